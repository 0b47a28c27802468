"""What every other package rests on: errors, files, arrays, registries, locks, shared types."""
