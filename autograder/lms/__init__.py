"""
Between a course and the LMSs: people, work in, grades and feedback out.

`model` has the words that all of them share. In come `rosters` and, from an
`archive`, `downloads`, which `collecting` puts into the course. Out go `grades`
as files (`exports`), over the network (`push`), feedback (`returns`) and whole
assignments (`bundles`). Nothing here knows the gradebook: commands do.
"""
