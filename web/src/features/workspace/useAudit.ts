/** Audit entries of a workspace, with the filters of the URL. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { api, unwrapPage, type Workspace } from "@/lib/api";
import type { AuditEntry } from "@/lib/audit";
import { fromDayField, useTimeZone } from "@/lib/timeZone";
import { useUrl } from "@/lib/url";

const PAGE = 100;
/** An export stops here. */
export const MAX_EXPORTED = 10_000;

export interface AuditQuery {
  startDate: string | undefined;
  endDate: string | undefined;
  actor: string | undefined;
  type: string | undefined;
}

/** Dates are days in the chosen time zone; the last one is included. */
export function useAuditQuery(): AuditQuery {
  const { since, until, member, type } = useUrl();
  useTimeZone();
  return {
    startDate: fromDayField(since)?.toISOString(),
    endDate: fromDayField(until, true)?.toISOString(),
    actor: member,
    type,
  };
}

function findPage({ id: workspaceId }: Workspace, filters: AuditQuery, skip: number) {
  const query = { ...filters, skip, limit: PAGE };
  return unwrapPage(
    api.GET("/api/workspaces/{workspaceId}/audit", { params: { path: { workspaceId }, query } }),
  );
}

export function useAudit(workspace: Workspace, filters: AuditQuery) {
  return useInfiniteQuery({
    queryKey: ["audit", filters],
    queryFn: ({ pageParam }) => findPage(workspace, filters, pageParam),
    initialPageParam: 0,
    getNextPageParam: ({ pagination }) =>
      pagination.hasMore ? pagination.skip + pagination.limit : undefined,
    placeholderData: (before) => before,
  });
}

/** All entries that match, up to the limit of an export. */
export async function findAll(workspace: Workspace, filters: AuditQuery): Promise<AuditEntry[]> {
  const found: AuditEntry[] = [];
  for (;;) {
    const { items, pagination } = await findPage(workspace, filters, found.length);
    found.push(...items);
    if (!pagination.hasMore || found.length >= MAX_EXPORTED) return found;
  }
}
