import bucketListing from "./lints/bucket_listing.sql";
import confidentialColumns from "./lints/confidential_columns.sql";
import definerOpen from "./lints/definer_open.sql";
import definerSearchPath from "./lints/definer_search_path.sql";
import extensionInPublic from "./lints/extension_in_public.sql";
import extensionOutdated from "./lints/extension_outdated.sql";
import foreignKeyUnindexed from "./lints/foreign_key_unindexed.sql";
import foreignTableOpen from "./lints/foreign_table_open.sql";
import functionSearchPath from "./lints/function_search_path.sql";
import graphqlVisible from "./lints/graphql_visible.sql";
import indexDuplicate from "./lints/index_duplicate.sql";
import indexInvalid from "./lints/index_invalid.sql";
import indexUnused from "./lints/index_unused.sql";
import materializedViewOpen from "./lints/materialized_view_open.sql";
import noPolicy from "./lints/no_policy.sql";
import noPrimaryKey from "./lints/no_primary_key.sql";
import openToPublic from "./lints/open_to_public.sql";
import policiesNotInEffect from "./lints/policies_not_in_effect.sql";
import policyAlwaysTrue from "./lints/policy_always_true.sql";
import policyPerRow from "./lints/policy_per_row.sql";
import policyTrustsUserMetadata from "./lints/policy_trusts_user_metadata.sql";
import queueOpen from "./lints/queue_open.sql";
import referencesLogin from "./lints/references_login.sql";
import regType from "./lints/reg_type.sql";
import rowSecurityOff from "./lints/row_security_off.sql";
import severalPolicies from "./lints/several_policies.sql";
import viewBypassesRowSecurity from "./lints/view_bypasses_row_security.sql";
import viewOfOwner from "./lints/view_of_owner.sql";
import viewOfUsers from "./lints/view_of_users.sql";

/** Problems, each with a query that finds its objects in one column `object`. */
export type Lints = Readonly<Record<string, string>>;

/** Files that name their problem in the first line. */
const lints = (...files: readonly string[]): Lints =>
  Object.fromEntries(files.map((file) => [/^-- (.*)$/m.exec(file)?.[1] ?? "", file.replace(/;\s*$/, "")]));

/** The roles under which PostgREST and Supabase serve requests from the internet. */
const API_ROLES = ["anon", "authenticated"];

export const SECURITY_LINTS: Lints = lints(
  confidentialColumns,
  rowSecurityOff,
  openToPublic,
  policiesNotInEffect,
  policyAlwaysTrue,
  policyTrustsUserMetadata,
  viewBypassesRowSecurity,
  viewOfOwner,
  viewOfUsers,
  materializedViewOpen,
  foreignTableOpen,
  queueOpen,
  bucketListing,
  graphqlVisible,
  referencesLogin,
  definerOpen,
  definerSearchPath,
  functionSearchPath,
  extensionOutdated,
);

export const SCHEMA_LINTS: Lints = lints(
  noPrimaryKey,
  noPolicy,
  severalPolicies,
  policyPerRow,
  extensionInPublic,
  regType,
);

export const INDEX_LINTS: Lints = lints(indexInvalid, indexUnused, indexDuplicate, foreignKeyUnindexed);

const SHOWN = 10;

/** One query for all lints, with a row for each problem that exists; the first row names the API roles that exist. */
export const lintQuery = (lints: Lints) => {
  const finding = Object.values(lints).map(
    (find, at) =>
      `SELECT ${at}, pg_catalog.count(*)::int, (pg_catalog.array_agg(object::text ORDER BY object::text))[1:${SHOWN}] FROM (${find}\n) found HAVING pg_catalog.count(*) > 0`,
  );
  const roles = `SELECT -1 AS lint, 0 AS count, ARRAY(SELECT rolname::text FROM pg_catalog.pg_roles WHERE rolname IN ('anon', 'authenticated') ORDER BY 1) AS objects`;
  return `${[roles, ...finding].join(" UNION ALL ")} ORDER BY 1`;
};

/**
 * What the rows of `lintQuery` mean. The summary says what was checked, since a database may have other problems.
 *
 * @param checked a list of what the lints check; `API roles` are named in it
 */
export const lintResult = (lints: Lints, checked: string) => (rows: readonly Record<string, unknown>[]) => {
  const problems = Object.keys(lints);
  const roles = rows.flatMap(({ lint, objects }) => (lint === -1 && Array.isArray(objects) ? objects : []));
  const details = rows.flatMap(({ lint, count, objects }) => {
    const problem = problems[Number(lint)];
    return problem === undefined ? [] : [{ problem, count, objects }];
  });
  const existing = roles.length === 0 ? `none of ${API_ROLES.join(", ")} exists here` : roles.join(", ");
  const looked = `Checked: ${checked.replace("API roles", `API roles (${existing})`)}.`;
  if (details.length === 0) return { ok: true, summary: `Nothing found. ${looked}` };
  const found = details.reduce((sum, { count }) => sum + Number(count), 0);
  return { ok: false, summary: `Problems found: ${found}. ${looked}`, details };
};
