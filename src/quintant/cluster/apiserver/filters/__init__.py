"""What every request passes before a handler is chosen: authentication, impersonation,
authorization, audit.
"""
