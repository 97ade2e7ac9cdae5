"""The pages people look at: safe content, what a page shows, and its template."""
