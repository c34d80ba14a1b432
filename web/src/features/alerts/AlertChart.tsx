/** What the rule of an alert measured around it, with its threshold or baseline and its window. */
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { type Alert, displayOf } from "@/lib/alerts";
import { api, unwrap } from "@/lib/api";
import { Panel } from "@/ui/Panel";
import { BacktestChart } from "@/ui/rules/BacktestChart";
import { type DrawnRule, toPeriod } from "@/ui/rules/backtest";
import { QueryResult } from "@/ui/states";
import { Time } from "@/ui/Time";

const HEIGHT = 280;
const FIRING = "var(--bad)";
const WINDOW = "var(--accent)";

export function AlertChart({ alert }: { alert: Alert }) {
  const { id, windowEnd } = alert;
  const query = useQuery({
    queryKey: ["alerts", "backtest", id, windowEnd],
    queryFn: () =>
      unwrap(
        api.GET("/api/spans/alerts/{alertId}/backtest", { params: { path: { alertId: id } } }),
      ),
    staleTime: 60_000,
    retry: false,
  });
  const rule = useMemo<DrawnRule>(
    () => ({
      ...alert,
      of: alert.rule.of,
      signalName: alert.rule.signalName,
      minSamples: alert.rule.minSamples,
      windowMinutes: alert.rule.windowMinutes,
      measure: alert.measure as DrawnRule["measure"],
    }),
    [alert],
  );
  const periods = useMemo(() => {
    const resolvedAt = alert.resolvedAt ?? query.data?.end ?? windowEnd;
    return [
      toPeriod(alert.triggeredAt, resolvedAt, FIRING),
      toPeriod(alert.windowStart, windowEnd, WINDOW),
    ];
  }, [alert, windowEnd, query.data]);
  return (
    <Panel title="Around the alert" unit={displayOf(rule).label.toLowerCase()}>
      <QueryResult query={query} height={HEIGHT}>
        {({ rules: [backtest] }) =>
          backtest && (
            <>
              <BacktestChart
                label="Metric of the rule around the alert"
                backtest={backtest}
                rule={rule}
                periods={periods}
              />
              <Marks alert={alert} />
            </>
          )
        }
      </QueryResult>
    </Panel>
  );
}

/** What the marked periods of the chart are. */
function Marks({ alert }: { alert: Alert }) {
  return (
    <ul className="mt-2 flex flex-wrap gap-x-5 gap-y-1 text-sm text-muted">
      <li className="flex items-center gap-1.5">
        <Swatch colour={FIRING} />
        <span>
          firing from <Time at={alert.triggeredAt} as="short" />
          {alert.resolvedAt ? (
            <>
              {" "}
              to <Time at={alert.resolvedAt} as="short" />
            </>
          ) : (
            " until now"
          )}
        </span>
      </li>
      <li className="flex items-center gap-1.5">
        <Swatch colour={WINDOW} />
        <span>
          latest window: <Time at={alert.windowStart} as="short" /> to{" "}
          <Time at={alert.windowEnd} as="short" />
        </span>
      </li>
    </ul>
  );
}

function Swatch({ colour }: { colour: string }) {
  return (
    <span aria-hidden className="size-2 rounded-sm opacity-60" style={{ background: colour }} />
  );
}
