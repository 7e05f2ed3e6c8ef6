"""Starting the processes of a job on a machine, and starting them again when one has failed."""
