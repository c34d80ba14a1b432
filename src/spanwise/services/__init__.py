"""Use cases: rules that span more than one store. Routes and jobs call these; they know no HTTP."""
