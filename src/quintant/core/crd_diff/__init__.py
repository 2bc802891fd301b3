"""What a new version of a definition means for what is stored and for who uses it; pure.

change            a change, and how far it is safe
keywords          what a keyword of a schema says, before and after
schema_changes    two schemas, field by field
definition_changes    two definitions: names, scope, versions, and the schemas of each
"""
