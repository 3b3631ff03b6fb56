-- Own Figma-like schema for the shadow-planner research. Plain PostgreSQL DDL (source schema).
-- colo U (user_id bigint, 8 shards), colo F (file_id uuid, 8 shards), colo O (org_id text, 8 shards),
-- colo A (user_id bigint, 16 shards: SAME key as U but ANOTHER layout), 2 reference, 2 local, 1 decoy.
CREATE SCHEMA IF NOT EXISTS billing;
CREATE SCHEMA IF NOT EXISTS archive;
-- reference -----------------------------------------------------------------
CREATE TABLE plans   (plan_code text PRIMARY KEY, title text NOT NULL, seat_price numeric(10,2) NOT NULL, max_files int);
CREATE TABLE regions (region_id int PRIMARY KEY, name text NOT NULL);
-- local (unsharded) ---------------------------------------------------------
CREATE TABLE feature_flags (flag text PRIMARY KEY, enabled boolean NOT NULL DEFAULT false, rollout int DEFAULT 0);
CREATE TABLE job_queue (job_id bigserial PRIMARY KEY, kind text NOT NULL, user_id bigint, payload jsonb,
                        state text NOT NULL DEFAULT 'queued', run_at timestamptz DEFAULT now());
-- decoy: same bare name as a sharded table, unsharded, other schema
CREATE TABLE archive.files (file_id uuid PRIMARY KEY, title text, archived_at timestamptz DEFAULT now());
-- colo U: user_id bigint ----------------------------------------------------
CREATE SEQUENCE notif_seq;
CREATE TABLE users (user_id bigint PRIMARY KEY, handle text NOT NULL, email text NOT NULL, region_id int, home_org text,
                    created_at timestamptz NOT NULL DEFAULT now(), deleted_at timestamptz);
CREATE TABLE user_sessions (user_id bigint NOT NULL, session_id uuid NOT NULL DEFAULT gen_random_uuid(), ip inet,
                    started_at timestamptz NOT NULL DEFAULT now(), last_seen timestamptz, PRIMARY KEY (user_id, session_id));
CREATE TABLE user_settings (user_id bigint NOT NULL, name text NOT NULL, value jsonb, updated_at timestamptz DEFAULT now(),
                    PRIMARY KEY (user_id, name));
CREATE TABLE notifications (user_id bigint NOT NULL, notif_id bigint NOT NULL DEFAULT nextval('notif_seq'), file_id uuid,
                    kind text NOT NULL, read_at timestamptz, created_at timestamptz NOT NULL DEFAULT now(),
                    PRIMARY KEY (user_id, notif_id));
CREATE TABLE recent_files (user_id bigint NOT NULL, file_id uuid NOT NULL, opened_at timestamptz NOT NULL DEFAULT now(),
                    PRIMARY KEY (user_id, file_id));
-- colo F: file_id uuid ------------------------------------------------------
CREATE TABLE files (file_id uuid PRIMARY KEY, owner_id bigint NOT NULL, org_id text, folder text, title text NOT NULL,
                    size_bytes bigint NOT NULL DEFAULT 0, created_at timestamptz NOT NULL DEFAULT now(), deleted_at timestamptz);
CREATE TABLE file_versions (file_id uuid NOT NULL, version int NOT NULL, author_id bigint NOT NULL, label text,
                    size_bytes bigint NOT NULL DEFAULT 0, created_at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (file_id, version));
CREATE TABLE comments (file_id uuid NOT NULL, comment_id bigserial, parent_id bigint, author_id bigint NOT NULL, body text,
                    resolved boolean NOT NULL DEFAULT false, created_at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (file_id, comment_id));
CREATE TABLE file_permissions (file_id uuid NOT NULL, user_id bigint NOT NULL, role text NOT NULL, PRIMARY KEY (file_id, user_id));
CREATE TABLE layers (file_id uuid NOT NULL, layer_id int NOT NULL, parent_layer int, kind text, props jsonb, PRIMARY KEY (file_id, layer_id));
-- colo O: org_id text -------------------------------------------------------
CREATE TABLE orgs (org_id text PRIMARY KEY, name text NOT NULL, plan_code text, seats int NOT NULL DEFAULT 1,
                    created_at timestamptz NOT NULL DEFAULT now());
CREATE TABLE org_members (org_id text NOT NULL, user_id bigint NOT NULL, role text NOT NULL DEFAULT 'viewer',
                    joined_at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (org_id, user_id));
CREATE TABLE billing.invoices (org_id text NOT NULL, invoice_no bigint NOT NULL, amount numeric(12,2) NOT NULL, currency text NOT NULL DEFAULT 'EUR',
                    issued_on date NOT NULL DEFAULT current_date, paid boolean NOT NULL DEFAULT false, PRIMARY KEY (org_id, invoice_no));
CREATE TABLE "OrgDomains" ("orgId" text NOT NULL, domain text NOT NULL, verified boolean NOT NULL DEFAULT false, PRIMARY KEY ("orgId", domain));
-- colo A: same key as U, other layout ---------------------------------------
CREATE TABLE activity_log (user_id bigint NOT NULL, at timestamptz NOT NULL DEFAULT clock_timestamp(), verb text NOT NULL, obj uuid);
CREATE VIEW active_files AS SELECT * FROM files WHERE deleted_at IS NULL;
CREATE VIEW user_inbox AS SELECT u.user_id, u.handle, n.notif_id, n.kind, n.created_at FROM users u JOIN notifications n ON n.user_id=u.user_id WHERE n.read_at IS NULL;
CREATE VIEW org_seat_usage AS SELECT o.org_id, o.seats, count(m.user_id) AS used FROM orgs o LEFT JOIN org_members m ON m.org_id=o.org_id GROUP BY o.org_id, o.seats;
CREATE VIEW owner_counts AS SELECT owner_id, count(*) AS n FROM files GROUP BY owner_id;
CREATE VIEW owner_files AS SELECT u.user_id, u.handle, f.file_id, f.title FROM users u JOIN files f ON f.owner_id=u.user_id;
CREATE FUNCTION norm_slug(t text) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT lower(btrim(t)) $$;
CREATE FUNCTION me() RETURNS bigint LANGUAGE sql STABLE AS $$ SELECT current_setting('app.uid')::bigint $$;
CREATE FUNCTION dice() RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$ BEGIN RETURN 1 + floor(random()*20)::bigint; END $$;
CREATE FUNCTION touch_user(p bigint) RETURNS void LANGUAGE plpgsql VOLATILE AS $$ BEGIN UPDATE users SET deleted_at=NULL WHERE user_id=p; END $$;
CREATE FUNCTION file_count(p bigint) RETURNS bigint LANGUAGE sql STABLE AS $$ SELECT count(*) FROM files WHERE owner_id=p $$;
CREATE PROCEDURE purge_user(p bigint) LANGUAGE plpgsql AS $$ BEGIN DELETE FROM notifications WHERE user_id=p; END $$;
CREATE FUNCTION trg_touch() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.updated_at := clock_timestamp(); RETURN NEW; END $$;
