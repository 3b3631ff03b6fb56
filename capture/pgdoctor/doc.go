// Package pgdoctor turns a connection to a PostgreSQL server (12 and later) into what of its traffic can be seen, what hides the rest, which
// statements change that, and what each costs. It only reads, in read-only transactions, and imports of the project only capture/pgwal, which plans publications.
package pgdoctor
