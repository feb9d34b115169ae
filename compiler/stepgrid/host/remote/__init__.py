"""Programs of steps on another machine, by ssh: the half there and the half here. Never asks for a password."""
