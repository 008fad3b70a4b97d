//! Rules of the API server, each with a value that keeps and one that breaks it.
