"""Value forms, one file each, named after the form; a new form is a new file here and nothing else."""
