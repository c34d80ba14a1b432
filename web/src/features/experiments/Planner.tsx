/** How many units and days the primary metric needs. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, type Schemas, unwrap } from "@/lib/api";
import { formatCount } from "@/lib/format";
import { Field, Select } from "@/ui/Field";
import { Skeleton } from "@/ui/states";
import type { DraftExperiment } from "./draft";
import { metricFormat, metricLabel } from "./labels";

const LIFTS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5];

export function Planner({ draft }: { draft: DraftExperiment }) {
  const [lift, setLift] = useState("0.05");
  const what = draft.metrics[0]?.what ?? "successRate";
  const signalName = what.startsWith("signal:") ? what.slice("signal:".length) : undefined;
  const metric = signalName === undefined ? (what as Schemas["TraceMetric"]) : null;
  const query = {
    lift: Number(lift),
    metric: metric ?? undefined,
    signalName,
    agentId: draft.agentId || undefined,
    variants: draft.variants.length,
  };
  const { data: plan } = useQuery({
    queryKey: ["experiments", "plan", query],
    queryFn: () => unwrap(api.GET("/api/experiments/plan", { params: { query } })),
    placeholderData: keepPreviousData,
  });
  const subject = { metric, signalName: signalName ?? null };
  return (
    <section aria-label="Sample size" className="flex flex-col gap-2 rounded-md bg-raised p-3">
      <Field
        label="Minimum detectable effect"
        hint={`Of ${metricLabel(subject)}, relative to the control`}
      >
        {(props) => (
          <Select
            {...props}
            value={lift}
            onChange={setLift}
            options={LIFTS.map((value) => ({
              value: String(value),
              label: `${Math.round(value * 100)}%`,
            }))}
          />
        )}
      </Field>
      {plan ? (
        <Answer
          plan={plan}
          trafficPercent={draft.trafficPercent}
          format={metricFormat(subject)}
          isImpossible={what === "successRate" && (plan.baseline ?? 0) * (1 + Number(lift)) > 1}
        />
      ) : (
        <Skeleton className="h-10" />
      )}
    </section>
  );
}

interface AnswerProps {
  plan: Schemas["ExperimentPlan"];
  trafficPercent: number;
  format: (value: number | null) => string;
  /** Whether a rate would have to rise above 100%. */
  isImpossible: boolean;
}

function Answer({ plan, trafficPercent, format, isImpossible }: AnswerProps) {
  if (plan.baseline === null) {
    return (
      <p className="text-muted">
        There is no data of the last 28 days from which the sample size could be estimated.
      </p>
    );
  }
  if (isImpossible) {
    return <p>The rate is {format(plan.baseline)} now and cannot rise by that much.</p>;
  }
  if (plan.unitsPerVariant === null || plan.days === null) {
    return <p>This change is too small to be detected with any realistic number of users.</p>;
  }
  const days = plan.days / (trafficPercent / 100);
  return (
    <p>
      About <b>{formatCount(plan.unitsPerVariant)} users per variant</b>
      {days <= 3650 ? (
        <>
          , which is <b>{formatDays(days)}</b> at {formatCount(plan.unitsPerDay)} users a day
        </>
      ) : (
        ", more than ten years of traffic"
      )}
      . <span className="text-muted">Now: {format(plan.baseline)}.</span>
    </p>
  );
}

function formatDays(days: number): string {
  if (days < 1) return "less than a day";
  const whole = Math.ceil(days);
  return whole === 1 ? "a day" : `${formatCount(whole)} days`;
}
