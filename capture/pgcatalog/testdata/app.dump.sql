--
-- PostgreSQL database dump
--

\restrict QZV0c86vWEEvll3xFL9NOXalJRwYOGsdNNiaRhrd55LsfbdSSWxOgRyvdcruSSj

-- Dumped from database version 15.18 (Debian 15.18-0+deb12u1)
-- Dumped by pg_dump version 15.18 (Debian 15.18-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Name: billing; Type: SCHEMA; Schema: -; Owner: -
--

CREATE SCHEMA billing;


--
-- Name: file_kind; Type: TYPE; Schema: public; Owner: -
--

CREATE TYPE public.file_kind AS ENUM (
    'design',
    'board',
    'prototype'
);


--
-- Name: org_status; Type: TYPE; Schema: public; Owner: -
--

CREATE TYPE public.org_status AS ENUM (
    'trial',
    'active',
    'suspended',
    'closed'
);


--
-- Name: archive_project(bigint, bigint); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.archive_project(org bigint, project bigint) RETURNS integer
    LANGUAGE plpgsql
    AS $$
DECLARE n integer;
BEGIN
    UPDATE projects SET archived = true WHERE org_id = org AND project_id = project;
    UPDATE files SET deleted_at = now() WHERE org_id = org AND project_id = project AND deleted_at IS NULL;
    GET DIAGNOSTICS n = ROW_COUNT;
    RETURN n;
END $$;


--
-- Name: org_storage_bytes(bigint); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.org_storage_bytes(org bigint) RETURNS numeric
    LANGUAGE sql STABLE
    AS $$ SELECT coalesce(sum(size_bytes), 0) FROM files WHERE org_id = org AND deleted_at IS NULL $$;


--
-- Name: slugify(text); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.slugify(t text) RETURNS text
    LANGUAGE sql IMMUTABLE
    AS $$ SELECT trim(both '-' FROM regexp_replace(lower(t), '[^a-z0-9]+', '-', 'g')) $$;


SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: invoices; Type: TABLE; Schema: billing; Owner: -
--

CREATE TABLE billing.invoices (
    org_id bigint NOT NULL,
    invoice_no bigint NOT NULL,
    period date NOT NULL,
    amount numeric(12,2) NOT NULL,
    currency text DEFAULT 'EUR'::text NOT NULL,
    paid boolean DEFAULT false NOT NULL
);


--
-- Name: files; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.files (
    org_id bigint NOT NULL,
    file_id uuid NOT NULL,
    project_id bigint NOT NULL,
    owner_id bigint NOT NULL,
    kind public.file_kind DEFAULT 'design'::public.file_kind NOT NULL,
    title text NOT NULL,
    size_bytes bigint DEFAULT 0 NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    meta jsonb DEFAULT '{}'::jsonb NOT NULL,
    tags text[] DEFAULT '{}'::text[] NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    deleted_at timestamp with time zone,
    CONSTRAINT files_size_bytes_check CHECK ((size_bytes >= 0))
);


--
-- Name: projects; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.projects (
    org_id bigint NOT NULL,
    project_id bigint NOT NULL,
    team_id bigint,
    name text NOT NULL,
    archived boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: active_files; Type: VIEW; Schema: public; Owner: -
--

CREATE VIEW public.active_files AS
 SELECT f.org_id,
    f.file_id,
    f.project_id,
    f.owner_id,
    f.title,
    f.kind,
    f.size_bytes,
    f.updated_at,
    p.name AS project_name
   FROM (public.files f
     JOIN public.projects p ON (((p.org_id = f.org_id) AND (p.project_id = f.project_id))))
  WHERE ((f.deleted_at IS NULL) AND (NOT p.archived));


--
-- Name: assets; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.assets (
    org_id bigint NOT NULL,
    asset_hash text NOT NULL,
    content_type text NOT NULL,
    size_bytes bigint NOT NULL,
    uploaded_by bigint NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: audit_log; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.audit_log (
    org_id bigint NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL,
    event_id uuid NOT NULL,
    actor_id bigint,
    action text NOT NULL,
    detail jsonb DEFAULT '{}'::jsonb NOT NULL
)
PARTITION BY RANGE (at);


--
-- Name: audit_log_2026_h2; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.audit_log_2026_h2 (
    org_id bigint NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL,
    event_id uuid NOT NULL,
    actor_id bigint,
    action text NOT NULL,
    detail jsonb DEFAULT '{}'::jsonb NOT NULL
);


--
-- Name: audit_log_2026_q1; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.audit_log_2026_q1 (
    org_id bigint NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL,
    event_id uuid NOT NULL,
    actor_id bigint,
    action text NOT NULL,
    detail jsonb DEFAULT '{}'::jsonb NOT NULL
);


--
-- Name: audit_log_2026_q2; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.audit_log_2026_q2 (
    org_id bigint NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL,
    event_id uuid NOT NULL,
    actor_id bigint,
    action text NOT NULL,
    detail jsonb DEFAULT '{}'::jsonb NOT NULL
);


--
-- Name: audit_log_rest; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.audit_log_rest (
    org_id bigint NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL,
    event_id uuid NOT NULL,
    actor_id bigint,
    action text NOT NULL,
    detail jsonb DEFAULT '{}'::jsonb NOT NULL
);


--
-- Name: comments; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.comments (
    org_id bigint NOT NULL,
    file_id uuid NOT NULL,
    comment_id uuid NOT NULL,
    parent_id uuid,
    author_id bigint NOT NULL,
    body text NOT NULL,
    resolved boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: components; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.components (
    org_id bigint NOT NULL,
    component_id uuid NOT NULL,
    file_id uuid NOT NULL,
    name text NOT NULL,
    uses integer DEFAULT 0 NOT NULL
);


--
-- Name: feature_flags; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.feature_flags (
    flag text NOT NULL,
    enabled boolean DEFAULT false NOT NULL,
    rollout integer DEFAULT 0 NOT NULL,
    CONSTRAINT feature_flags_rollout_check CHECK (((rollout >= 0) AND (rollout <= 100)))
);


--
-- Name: file_assets; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.file_assets (
    org_id bigint NOT NULL,
    file_id uuid NOT NULL,
    asset_hash text NOT NULL
);


--
-- Name: file_permissions; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.file_permissions (
    org_id bigint NOT NULL,
    file_id uuid NOT NULL,
    user_id bigint NOT NULL,
    role text DEFAULT 'viewer'::text NOT NULL,
    granted_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: file_versions; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.file_versions (
    org_id bigint NOT NULL,
    file_id uuid NOT NULL,
    version integer NOT NULL,
    author_id bigint NOT NULL,
    label text,
    size_bytes bigint DEFAULT 0 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: invites; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.invites (
    invite_id bigint NOT NULL,
    org_id bigint NOT NULL,
    email text NOT NULL,
    token uuid NOT NULL,
    invited_by bigint NOT NULL,
    accepted_at timestamp with time zone,
    expires_at timestamp with time zone NOT NULL
);


--
-- Name: invites_invite_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public.invites_invite_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: invites_invite_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: -
--

ALTER SEQUENCE public.invites_invite_id_seq OWNED BY public.invites.invite_id;


--
-- Name: job_queue; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.job_queue (
    job_id bigint NOT NULL,
    kind text NOT NULL,
    payload jsonb NOT NULL,
    state text DEFAULT 'queued'::text NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    run_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: job_queue_job_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public.job_queue_job_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: job_queue_job_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: -
--

ALTER SEQUENCE public.job_queue_job_id_seq OWNED BY public.job_queue.job_id;


--
-- Name: layers; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.layers (
    org_id bigint NOT NULL,
    file_id uuid NOT NULL,
    layer_id integer NOT NULL,
    parent_id integer,
    kind text NOT NULL,
    props jsonb DEFAULT '{}'::jsonb NOT NULL
);


--
-- Name: notifications; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.notifications (
    org_id bigint NOT NULL,
    user_id bigint NOT NULL,
    notification_id uuid NOT NULL,
    kind text NOT NULL,
    file_id uuid,
    payload jsonb DEFAULT '{}'::jsonb NOT NULL,
    read_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: orgs; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.orgs (
    org_id bigint NOT NULL,
    name text NOT NULL,
    slug text NOT NULL,
    plan_code text NOT NULL,
    region_id integer NOT NULL,
    status public.org_status DEFAULT 'trial'::public.org_status NOT NULL,
    seats integer DEFAULT 1 NOT NULL,
    settings jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: plans; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.plans (
    plan_code text NOT NULL,
    title text NOT NULL,
    seat_price numeric(10,2) NOT NULL,
    max_files integer,
    features jsonb DEFAULT '{}'::jsonb NOT NULL
);


--
-- Name: org_seats; Type: VIEW; Schema: public; Owner: -
--

CREATE VIEW public.org_seats AS
 SELECT o.org_id,
    o.name,
    o.seats,
    p.seat_price,
    ((o.seats)::numeric * p.seat_price) AS monthly
   FROM (public.orgs o
     JOIN public.plans p ON ((p.plan_code = o.plan_code)));


--
-- Name: reactions; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.reactions (
    org_id bigint NOT NULL,
    comment_id uuid NOT NULL,
    user_id bigint NOT NULL,
    emoji text NOT NULL
);


--
-- Name: recent_files; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.recent_files (
    org_id bigint NOT NULL,
    user_id bigint NOT NULL,
    file_id uuid NOT NULL,
    opened_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: regions; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.regions (
    region_id integer NOT NULL,
    name text NOT NULL
);


--
-- Name: sessions; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.sessions (
    org_id bigint NOT NULL,
    user_id bigint NOT NULL,
    session_id uuid NOT NULL,
    ip inet,
    started_at timestamp with time zone DEFAULT now() NOT NULL,
    seen_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: team_members; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.team_members (
    org_id bigint NOT NULL,
    team_id bigint NOT NULL,
    user_id bigint NOT NULL,
    role text DEFAULT 'viewer'::text NOT NULL,
    CONSTRAINT team_members_role_check CHECK ((role = ANY (ARRAY['viewer'::text, 'editor'::text, 'admin'::text])))
);


--
-- Name: teams; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.teams (
    org_id bigint NOT NULL,
    team_id bigint NOT NULL,
    name text NOT NULL
);


--
-- Name: users; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.users (
    org_id bigint NOT NULL,
    user_id bigint NOT NULL,
    email text NOT NULL,
    name text NOT NULL,
    avatar_url text,
    last_seen timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    deleted_at timestamp with time zone
);


--
-- Name: webhooks; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.webhooks (
    org_id bigint NOT NULL,
    webhook_id uuid NOT NULL,
    url text NOT NULL,
    events text[] NOT NULL,
    active boolean DEFAULT true NOT NULL
);


--
-- Name: audit_log_2026_h2; Type: TABLE ATTACH; Schema: public; Owner: -
--

ALTER TABLE ONLY public.audit_log ATTACH PARTITION public.audit_log_2026_h2 FOR VALUES FROM ('2026-07-01 00:00:00+00') TO ('2027-01-01 00:00:00+00');


--
-- Name: audit_log_2026_q1; Type: TABLE ATTACH; Schema: public; Owner: -
--

ALTER TABLE ONLY public.audit_log ATTACH PARTITION public.audit_log_2026_q1 FOR VALUES FROM ('2026-01-01 00:00:00+00') TO ('2026-04-01 00:00:00+00');


--
-- Name: audit_log_2026_q2; Type: TABLE ATTACH; Schema: public; Owner: -
--

ALTER TABLE ONLY public.audit_log ATTACH PARTITION public.audit_log_2026_q2 FOR VALUES FROM ('2026-04-01 00:00:00+00') TO ('2026-07-01 00:00:00+00');


--
-- Name: audit_log_rest; Type: TABLE ATTACH; Schema: public; Owner: -
--

ALTER TABLE ONLY public.audit_log ATTACH PARTITION public.audit_log_rest DEFAULT;


--
-- Name: invites invite_id; Type: DEFAULT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.invites ALTER COLUMN invite_id SET DEFAULT nextval('public.invites_invite_id_seq'::regclass);


--
-- Name: job_queue job_id; Type: DEFAULT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.job_queue ALTER COLUMN job_id SET DEFAULT nextval('public.job_queue_job_id_seq'::regclass);


--
-- Name: invoices invoices_pkey; Type: CONSTRAINT; Schema: billing; Owner: -
--

ALTER TABLE ONLY billing.invoices
    ADD CONSTRAINT invoices_pkey PRIMARY KEY (org_id, invoice_no);


--
-- Name: assets assets_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.assets
    ADD CONSTRAINT assets_pkey PRIMARY KEY (org_id, asset_hash);


--
-- Name: audit_log audit_log_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.audit_log
    ADD CONSTRAINT audit_log_pkey PRIMARY KEY (org_id, at, event_id);


--
-- Name: audit_log_2026_h2 audit_log_2026_h2_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.audit_log_2026_h2
    ADD CONSTRAINT audit_log_2026_h2_pkey PRIMARY KEY (org_id, at, event_id);


--
-- Name: audit_log_2026_q1 audit_log_2026_q1_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.audit_log_2026_q1
    ADD CONSTRAINT audit_log_2026_q1_pkey PRIMARY KEY (org_id, at, event_id);


--
-- Name: audit_log_2026_q2 audit_log_2026_q2_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.audit_log_2026_q2
    ADD CONSTRAINT audit_log_2026_q2_pkey PRIMARY KEY (org_id, at, event_id);


--
-- Name: audit_log_rest audit_log_rest_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.audit_log_rest
    ADD CONSTRAINT audit_log_rest_pkey PRIMARY KEY (org_id, at, event_id);


--
-- Name: comments comments_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.comments
    ADD CONSTRAINT comments_pkey PRIMARY KEY (org_id, comment_id);


--
-- Name: components components_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.components
    ADD CONSTRAINT components_pkey PRIMARY KEY (org_id, component_id);


--
-- Name: feature_flags feature_flags_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.feature_flags
    ADD CONSTRAINT feature_flags_pkey PRIMARY KEY (flag);


--
-- Name: file_assets file_assets_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.file_assets
    ADD CONSTRAINT file_assets_pkey PRIMARY KEY (org_id, file_id, asset_hash);


--
-- Name: file_permissions file_permissions_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.file_permissions
    ADD CONSTRAINT file_permissions_pkey PRIMARY KEY (org_id, file_id, user_id);


--
-- Name: file_versions file_versions_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.file_versions
    ADD CONSTRAINT file_versions_pkey PRIMARY KEY (org_id, file_id, version);


--
-- Name: files files_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.files
    ADD CONSTRAINT files_pkey PRIMARY KEY (org_id, file_id);


--
-- Name: invites invites_org_id_email_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.invites
    ADD CONSTRAINT invites_org_id_email_key UNIQUE (org_id, email);


--
-- Name: invites invites_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.invites
    ADD CONSTRAINT invites_pkey PRIMARY KEY (invite_id);


--
-- Name: job_queue job_queue_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.job_queue
    ADD CONSTRAINT job_queue_pkey PRIMARY KEY (job_id);


--
-- Name: layers layers_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.layers
    ADD CONSTRAINT layers_pkey PRIMARY KEY (org_id, file_id, layer_id);


--
-- Name: notifications notifications_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.notifications
    ADD CONSTRAINT notifications_pkey PRIMARY KEY (org_id, user_id, notification_id);


--
-- Name: orgs orgs_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.orgs
    ADD CONSTRAINT orgs_pkey PRIMARY KEY (org_id);


--
-- Name: orgs orgs_slug_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.orgs
    ADD CONSTRAINT orgs_slug_key UNIQUE (slug);


--
-- Name: plans plans_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.plans
    ADD CONSTRAINT plans_pkey PRIMARY KEY (plan_code);


--
-- Name: projects projects_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.projects
    ADD CONSTRAINT projects_pkey PRIMARY KEY (org_id, project_id);


--
-- Name: reactions reactions_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.reactions
    ADD CONSTRAINT reactions_pkey PRIMARY KEY (org_id, comment_id, user_id, emoji);


--
-- Name: recent_files recent_files_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.recent_files
    ADD CONSTRAINT recent_files_pkey PRIMARY KEY (org_id, user_id, file_id);


--
-- Name: regions regions_name_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.regions
    ADD CONSTRAINT regions_name_key UNIQUE (name);


--
-- Name: regions regions_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.regions
    ADD CONSTRAINT regions_pkey PRIMARY KEY (region_id);


--
-- Name: sessions sessions_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (org_id, session_id);


--
-- Name: team_members team_members_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.team_members
    ADD CONSTRAINT team_members_pkey PRIMARY KEY (org_id, team_id, user_id);


--
-- Name: teams teams_org_id_name_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.teams
    ADD CONSTRAINT teams_org_id_name_key UNIQUE (org_id, name);


--
-- Name: teams teams_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.teams
    ADD CONSTRAINT teams_pkey PRIMARY KEY (org_id, team_id);


--
-- Name: users users_email_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_email_key UNIQUE (email);


--
-- Name: users users_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_pkey PRIMARY KEY (org_id, user_id);


--
-- Name: webhooks webhooks_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.webhooks
    ADD CONSTRAINT webhooks_pkey PRIMARY KEY (org_id, webhook_id);


--
-- Name: comments_by_file; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX comments_by_file ON public.comments USING btree (org_id, file_id, created_at);


--
-- Name: file_permissions_by_user; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX file_permissions_by_user ON public.file_permissions USING btree (org_id, user_id);


--
-- Name: files_by_id; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX files_by_id ON public.files USING btree (file_id);


--
-- Name: files_by_project; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX files_by_project ON public.files USING btree (org_id, project_id, updated_at DESC);


--
-- Name: job_queue_due; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX job_queue_due ON public.job_queue USING btree (run_at) WHERE (state = 'queued'::text);


--
-- Name: team_members_by_user; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX team_members_by_user ON public.team_members USING btree (org_id, user_id);


--
-- Name: users_by_id; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX users_by_id ON public.users USING btree (user_id);


--
-- Name: audit_log_2026_h2_pkey; Type: INDEX ATTACH; Schema: public; Owner: -
--

ALTER INDEX public.audit_log_pkey ATTACH PARTITION public.audit_log_2026_h2_pkey;


--
-- Name: audit_log_2026_q1_pkey; Type: INDEX ATTACH; Schema: public; Owner: -
--

ALTER INDEX public.audit_log_pkey ATTACH PARTITION public.audit_log_2026_q1_pkey;


--
-- Name: audit_log_2026_q2_pkey; Type: INDEX ATTACH; Schema: public; Owner: -
--

ALTER INDEX public.audit_log_pkey ATTACH PARTITION public.audit_log_2026_q2_pkey;


--
-- Name: audit_log_rest_pkey; Type: INDEX ATTACH; Schema: public; Owner: -
--

ALTER INDEX public.audit_log_pkey ATTACH PARTITION public.audit_log_rest_pkey;


--
-- Name: invoices invoices_org_id_fkey; Type: FK CONSTRAINT; Schema: billing; Owner: -
--

ALTER TABLE ONLY billing.invoices
    ADD CONSTRAINT invoices_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.orgs(org_id);


--
-- Name: comments comments_org_id_author_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.comments
    ADD CONSTRAINT comments_org_id_author_id_fkey FOREIGN KEY (org_id, author_id) REFERENCES public.users(org_id, user_id);


--
-- Name: comments comments_org_id_file_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.comments
    ADD CONSTRAINT comments_org_id_file_id_fkey FOREIGN KEY (org_id, file_id) REFERENCES public.files(org_id, file_id) ON DELETE CASCADE;


--
-- Name: file_assets file_assets_org_id_asset_hash_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.file_assets
    ADD CONSTRAINT file_assets_org_id_asset_hash_fkey FOREIGN KEY (org_id, asset_hash) REFERENCES public.assets(org_id, asset_hash);


--
-- Name: file_assets file_assets_org_id_file_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.file_assets
    ADD CONSTRAINT file_assets_org_id_file_id_fkey FOREIGN KEY (org_id, file_id) REFERENCES public.files(org_id, file_id) ON DELETE CASCADE;


--
-- Name: file_permissions file_permissions_org_id_file_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.file_permissions
    ADD CONSTRAINT file_permissions_org_id_file_id_fkey FOREIGN KEY (org_id, file_id) REFERENCES public.files(org_id, file_id) ON DELETE CASCADE;


--
-- Name: file_versions file_versions_org_id_file_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.file_versions
    ADD CONSTRAINT file_versions_org_id_file_id_fkey FOREIGN KEY (org_id, file_id) REFERENCES public.files(org_id, file_id) ON DELETE CASCADE;


--
-- Name: files files_org_id_owner_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.files
    ADD CONSTRAINT files_org_id_owner_id_fkey FOREIGN KEY (org_id, owner_id) REFERENCES public.users(org_id, user_id);


--
-- Name: files files_org_id_project_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.files
    ADD CONSTRAINT files_org_id_project_id_fkey FOREIGN KEY (org_id, project_id) REFERENCES public.projects(org_id, project_id);


--
-- Name: invites invites_org_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.invites
    ADD CONSTRAINT invites_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.orgs(org_id);


--
-- Name: layers layers_org_id_file_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.layers
    ADD CONSTRAINT layers_org_id_file_id_fkey FOREIGN KEY (org_id, file_id) REFERENCES public.files(org_id, file_id) ON DELETE CASCADE;


--
-- Name: orgs orgs_plan_code_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.orgs
    ADD CONSTRAINT orgs_plan_code_fkey FOREIGN KEY (plan_code) REFERENCES public.plans(plan_code);


--
-- Name: orgs orgs_region_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.orgs
    ADD CONSTRAINT orgs_region_id_fkey FOREIGN KEY (region_id) REFERENCES public.regions(region_id);


--
-- Name: projects projects_org_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.projects
    ADD CONSTRAINT projects_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.orgs(org_id);


--
-- Name: projects projects_org_id_team_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.projects
    ADD CONSTRAINT projects_org_id_team_id_fkey FOREIGN KEY (org_id, team_id) REFERENCES public.teams(org_id, team_id);


--
-- Name: reactions reactions_org_id_comment_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.reactions
    ADD CONSTRAINT reactions_org_id_comment_id_fkey FOREIGN KEY (org_id, comment_id) REFERENCES public.comments(org_id, comment_id) ON DELETE CASCADE;


--
-- Name: sessions sessions_org_id_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_org_id_user_id_fkey FOREIGN KEY (org_id, user_id) REFERENCES public.users(org_id, user_id);


--
-- Name: team_members team_members_org_id_team_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.team_members
    ADD CONSTRAINT team_members_org_id_team_id_fkey FOREIGN KEY (org_id, team_id) REFERENCES public.teams(org_id, team_id) ON DELETE CASCADE;


--
-- Name: team_members team_members_org_id_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.team_members
    ADD CONSTRAINT team_members_org_id_user_id_fkey FOREIGN KEY (org_id, user_id) REFERENCES public.users(org_id, user_id);


--
-- Name: teams teams_org_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.teams
    ADD CONSTRAINT teams_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.orgs(org_id);


--
-- Name: users users_org_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.orgs(org_id);


--
-- Name: webhooks webhooks_org_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.webhooks
    ADD CONSTRAINT webhooks_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.orgs(org_id);


--
-- PostgreSQL database dump complete
--

\unrestrict QZV0c86vWEEvll3xFL9NOXalJRwYOGsdNNiaRhrd55LsfbdSSWxOgRyvdcruSSj

