CREATE TABLE flags (flag text PRIMARY KEY);
CREATE TABLE stars (file_id bigint PRIMARY KEY);
CREATE TABLE orgs (org_id bigint PRIMARY KEY, name text NOT NULL);
CREATE TABLE users (org_id bigint NOT NULL REFERENCES orgs, user_id bigint NOT NULL UNIQUE, email text NOT NULL UNIQUE, name text, PRIMARY KEY (org_id, user_id));
CREATE TABLE files (org_id bigint NOT NULL, file_id bigint NOT NULL, owner_id bigint NOT NULL, title text, PRIMARY KEY (org_id, file_id),
    FOREIGN KEY (org_id, owner_id) REFERENCES users (org_id, user_id));
CREATE TABLE comments (org_id bigint NOT NULL, file_id bigint NOT NULL, comment_id bigint NOT NULL, body text, PRIMARY KEY (org_id, comment_id),
    FOREIGN KEY (org_id, file_id) REFERENCES files (org_id, file_id));
