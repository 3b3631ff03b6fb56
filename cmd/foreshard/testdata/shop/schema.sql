CREATE TABLE orgs (org_id bigint PRIMARY KEY, name text NOT NULL, plan text NOT NULL);
CREATE TABLE users (user_id bigint PRIMARY KEY, org_id bigint NOT NULL, email text NOT NULL);
CREATE TABLE orders (org_id bigint NOT NULL, order_id bigint NOT NULL, user_id bigint NOT NULL, total numeric(10,2) NOT NULL, PRIMARY KEY (org_id, order_id));
CREATE TABLE plans (plan text PRIMARY KEY, price numeric(10,2) NOT NULL);
CREATE TABLE jobs (job_id bigint PRIMARY KEY, state text NOT NULL);
