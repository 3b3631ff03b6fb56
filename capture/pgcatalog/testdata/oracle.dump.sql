--
-- PostgreSQL database dump
--

\restrict qbVXRIides4LewVcppEyfnaAUkFLmrDkQp8vaHs2BdR0NMhB1OrEBiXVz7dvyra

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
-- Name: archive; Type: SCHEMA; Schema: -; Owner: -
--

CREATE SCHEMA archive;


--
-- Name: billing; Type: SCHEMA; Schema: -; Owner: -
--

CREATE SCHEMA billing;


--
-- Name: dice(); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.dice() RETURNS bigint
    LANGUAGE plpgsql
    AS $$ BEGIN RETURN 1 + floor(random()*20)::bigint; END $$;


--
-- Name: file_count(bigint); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.file_count(p bigint) RETURNS bigint
    LANGUAGE sql STABLE
    AS $$ SELECT count(*) FROM files WHERE owner_id=p $$;


--
-- Name: me(); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.me() RETURNS bigint
    LANGUAGE sql STABLE
    AS $$ SELECT current_setting('app.uid')::bigint $$;


--
-- Name: norm_slug(text); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.norm_slug(t text) RETURNS text
    LANGUAGE sql IMMUTABLE
    AS $$ SELECT lower(btrim(t)) $$;


--
-- Name: purge_user(bigint); Type: PROCEDURE; Schema: public; Owner: -
--

CREATE PROCEDURE public.purge_user(IN p bigint)
    LANGUAGE plpgsql
    AS $$ BEGIN DELETE FROM notifications WHERE user_id=p; END $$;


--
-- Name: touch_user(bigint); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.touch_user(p bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$ BEGIN UPDATE users SET deleted_at=NULL WHERE user_id=p; END $$;


--
-- Name: trg_touch(); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.trg_touch() RETURNS trigger
    LANGUAGE plpgsql
    AS $$ BEGIN NEW.updated_at := clock_timestamp(); RETURN NEW; END $$;


SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: files; Type: TABLE; Schema: archive; Owner: -
--

CREATE TABLE archive.files (
    file_id uuid NOT NULL,
    title text,
    archived_at timestamp with time zone DEFAULT now()
);


--
-- Name: invoices; Type: TABLE; Schema: billing; Owner: -
--

CREATE TABLE billing.invoices (
    org_id text NOT NULL,
    invoice_no bigint NOT NULL,
    amount numeric(12,2) NOT NULL,
    currency text DEFAULT 'EUR'::text NOT NULL,
    issued_on date DEFAULT CURRENT_DATE NOT NULL,
    paid boolean DEFAULT false NOT NULL
);


--
-- Name: OrgDomains; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public."OrgDomains" (
    "orgId" text NOT NULL,
    domain text NOT NULL,
    verified boolean DEFAULT false NOT NULL
);


--
-- Name: files; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.files (
    file_id uuid NOT NULL,
    owner_id bigint NOT NULL,
    org_id text,
    folder text,
    title text NOT NULL,
    size_bytes bigint DEFAULT 0 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    deleted_at timestamp with time zone
);


--
-- Name: active_files; Type: VIEW; Schema: public; Owner: -
--

CREATE VIEW public.active_files AS
 SELECT files.file_id,
    files.owner_id,
    files.org_id,
    files.folder,
    files.title,
    files.size_bytes,
    files.created_at,
    files.deleted_at
   FROM public.files
  WHERE (files.deleted_at IS NULL);


--
-- Name: activity_log; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.activity_log (
    user_id bigint NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    verb text NOT NULL,
    obj uuid
);


--
-- Name: comments; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.comments (
    file_id uuid NOT NULL,
    comment_id bigint NOT NULL,
    parent_id bigint,
    author_id bigint NOT NULL,
    body text,
    resolved boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: comments_comment_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public.comments_comment_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: comments_comment_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: -
--

ALTER SEQUENCE public.comments_comment_id_seq OWNED BY public.comments.comment_id;


--
-- Name: feature_flags; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.feature_flags (
    flag text NOT NULL,
    enabled boolean DEFAULT false NOT NULL,
    rollout integer DEFAULT 0
);


--
-- Name: file_permissions; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.file_permissions (
    file_id uuid NOT NULL,
    user_id bigint NOT NULL,
    role text NOT NULL
);


--
-- Name: file_versions; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.file_versions (
    file_id uuid NOT NULL,
    version integer NOT NULL,
    author_id bigint NOT NULL,
    label text,
    size_bytes bigint DEFAULT 0 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: job_queue; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.job_queue (
    job_id bigint NOT NULL,
    kind text NOT NULL,
    user_id bigint,
    payload jsonb,
    state text DEFAULT 'queued'::text NOT NULL,
    run_at timestamp with time zone DEFAULT now()
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
    file_id uuid NOT NULL,
    layer_id integer NOT NULL,
    parent_layer integer,
    kind text,
    props jsonb
);


--
-- Name: notif_seq; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public.notif_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: notifications; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.notifications (
    user_id bigint NOT NULL,
    notif_id bigint DEFAULT nextval('public.notif_seq'::regclass) NOT NULL,
    file_id uuid,
    kind text NOT NULL,
    read_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: org_members; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.org_members (
    org_id text NOT NULL,
    user_id bigint NOT NULL,
    role text DEFAULT 'viewer'::text NOT NULL,
    joined_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: orgs; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.orgs (
    org_id text NOT NULL,
    name text NOT NULL,
    plan_code text,
    seats integer DEFAULT 1 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: org_seat_usage; Type: VIEW; Schema: public; Owner: -
--

CREATE VIEW public.org_seat_usage AS
 SELECT o.org_id,
    o.seats,
    count(m.user_id) AS used
   FROM (public.orgs o
     LEFT JOIN public.org_members m ON ((m.org_id = o.org_id)))
  GROUP BY o.org_id, o.seats;


--
-- Name: owner_counts; Type: VIEW; Schema: public; Owner: -
--

CREATE VIEW public.owner_counts AS
 SELECT files.owner_id,
    count(*) AS n
   FROM public.files
  GROUP BY files.owner_id;


--
-- Name: users; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.users (
    user_id bigint NOT NULL,
    handle text NOT NULL,
    email text NOT NULL,
    region_id integer,
    home_org text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    deleted_at timestamp with time zone
);


--
-- Name: owner_files; Type: VIEW; Schema: public; Owner: -
--

CREATE VIEW public.owner_files AS
 SELECT u.user_id,
    u.handle,
    f.file_id,
    f.title
   FROM (public.users u
     JOIN public.files f ON ((f.owner_id = u.user_id)));


--
-- Name: plans; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.plans (
    plan_code text NOT NULL,
    title text NOT NULL,
    seat_price numeric(10,2) NOT NULL,
    max_files integer
);


--
-- Name: recent_files; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.recent_files (
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
-- Name: user_inbox; Type: VIEW; Schema: public; Owner: -
--

CREATE VIEW public.user_inbox AS
 SELECT u.user_id,
    u.handle,
    n.notif_id,
    n.kind,
    n.created_at
   FROM (public.users u
     JOIN public.notifications n ON ((n.user_id = u.user_id)))
  WHERE (n.read_at IS NULL);


--
-- Name: user_sessions; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.user_sessions (
    user_id bigint NOT NULL,
    session_id uuid DEFAULT gen_random_uuid() NOT NULL,
    ip inet,
    started_at timestamp with time zone DEFAULT now() NOT NULL,
    last_seen timestamp with time zone
);


--
-- Name: user_settings; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.user_settings (
    user_id bigint NOT NULL,
    name text NOT NULL,
    value jsonb,
    updated_at timestamp with time zone DEFAULT now()
);


--
-- Name: comments comment_id; Type: DEFAULT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.comments ALTER COLUMN comment_id SET DEFAULT nextval('public.comments_comment_id_seq'::regclass);


--
-- Name: job_queue job_id; Type: DEFAULT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.job_queue ALTER COLUMN job_id SET DEFAULT nextval('public.job_queue_job_id_seq'::regclass);


--
-- Name: files files_pkey; Type: CONSTRAINT; Schema: archive; Owner: -
--

ALTER TABLE ONLY archive.files
    ADD CONSTRAINT files_pkey PRIMARY KEY (file_id);


--
-- Name: invoices invoices_pkey; Type: CONSTRAINT; Schema: billing; Owner: -
--

ALTER TABLE ONLY billing.invoices
    ADD CONSTRAINT invoices_pkey PRIMARY KEY (org_id, invoice_no);


--
-- Name: OrgDomains OrgDomains_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public."OrgDomains"
    ADD CONSTRAINT "OrgDomains_pkey" PRIMARY KEY ("orgId", domain);


--
-- Name: comments comments_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.comments
    ADD CONSTRAINT comments_pkey PRIMARY KEY (file_id, comment_id);


--
-- Name: feature_flags feature_flags_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.feature_flags
    ADD CONSTRAINT feature_flags_pkey PRIMARY KEY (flag);


--
-- Name: file_permissions file_permissions_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.file_permissions
    ADD CONSTRAINT file_permissions_pkey PRIMARY KEY (file_id, user_id);


--
-- Name: file_versions file_versions_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.file_versions
    ADD CONSTRAINT file_versions_pkey PRIMARY KEY (file_id, version);


--
-- Name: files files_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.files
    ADD CONSTRAINT files_pkey PRIMARY KEY (file_id);


--
-- Name: job_queue job_queue_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.job_queue
    ADD CONSTRAINT job_queue_pkey PRIMARY KEY (job_id);


--
-- Name: layers layers_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.layers
    ADD CONSTRAINT layers_pkey PRIMARY KEY (file_id, layer_id);


--
-- Name: notifications notifications_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.notifications
    ADD CONSTRAINT notifications_pkey PRIMARY KEY (user_id, notif_id);


--
-- Name: org_members org_members_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.org_members
    ADD CONSTRAINT org_members_pkey PRIMARY KEY (org_id, user_id);


--
-- Name: orgs orgs_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.orgs
    ADD CONSTRAINT orgs_pkey PRIMARY KEY (org_id);


--
-- Name: plans plans_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.plans
    ADD CONSTRAINT plans_pkey PRIMARY KEY (plan_code);


--
-- Name: recent_files recent_files_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.recent_files
    ADD CONSTRAINT recent_files_pkey PRIMARY KEY (user_id, file_id);


--
-- Name: regions regions_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.regions
    ADD CONSTRAINT regions_pkey PRIMARY KEY (region_id);


--
-- Name: user_sessions user_sessions_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.user_sessions
    ADD CONSTRAINT user_sessions_pkey PRIMARY KEY (user_id, session_id);


--
-- Name: user_settings user_settings_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.user_settings
    ADD CONSTRAINT user_settings_pkey PRIMARY KEY (user_id, name);


--
-- Name: users users_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_pkey PRIMARY KEY (user_id);


--
-- PostgreSQL database dump complete
--

\unrestrict qbVXRIides4LewVcppEyfnaAUkFLmrDkQp8vaHs2BdR0NMhB1OrEBiXVz7dvyra

