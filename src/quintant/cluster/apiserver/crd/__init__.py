"""CustomResourceDefinitions (apiextensions): what one must be, the kinds it defines, their
strategies.
"""
