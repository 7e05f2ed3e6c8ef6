"""The backend of this library: shared memory within a machine, sockets between machines."""
