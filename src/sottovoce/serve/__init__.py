"""The services over HTTP and their page: one router a service, all work in worker processes."""
