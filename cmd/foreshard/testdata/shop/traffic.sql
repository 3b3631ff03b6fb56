SELECT name FROM orgs WHERE org_id = 1;
SELECT name FROM orgs WHERE org_id = 2;
