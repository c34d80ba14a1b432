"""Request parameters, fields and bodies that several routes share."""
