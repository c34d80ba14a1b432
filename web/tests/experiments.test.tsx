import { render, screen } from "@testing-library/react";
import { describe, expect, it, vi } from "vitest";
import { emptyDraft, fromExperiment, problemsOf, toBody } from "@/features/experiments/draft";
import { IntervalPlot } from "@/features/experiments/IntervalPlot";
import {
  type Experiment,
  formatLift,
  liftTone,
  type MetricResult,
  pointsOf,
  type Results,
} from "@/features/experiments/labels";

function named(changes: object = {}) {
  return { ...emptyDraft(), name: "shorter", ...changes };
}

describe("a draft", () => {
  it("reports errors with the step that fixes them", () => {
    expect(problemsOf(emptyDraft())[0]).toEqual({ step: 0, words: "The experiment needs a name." });
    expect(problemsOf(named({ contents: "none" }))).toEqual([]);
    expect(problemsOf(named())).toEqual([{ step: 1, words: "Every variant needs a prompt." }]);
    const twins = [1, 2].map(() => ({ key: "a", name: "", weight: 1, config: "Be brief." }));
    expect(problemsOf(named({ variants: twins }))[0]?.words).toMatch("same key");
    const list = [1, 2].map((n) => ({
      key: `v${n}`,
      name: "",
      weight: 1,
      config: "[1]",
    }));
    expect(problemsOf(named({ contents: "json", variants: list }))[0]?.words).toMatch(
      "JSON object",
    );
  });

  it("is read from an experiment and written back unchanged", () => {
    for (const configs of [
      [{}, {}],
      [{ prompt: "a" }, { prompt: "b" }],
      [{ prompt: "a" }, { model: "m", prompt: "b" }],
    ]) {
      const variants = configs.map((config, n) => ({
        key: `v${n}`,
        name: `v${n}`,
        weight: 1,
        config,
      }));
      const experiment = { ...toBody(named()), variants, metrics: [] } as unknown as Experiment;
      const body = toBody(fromExperiment(experiment));
      expect(body.variants.map((variant) => variant.config)).toEqual(configs);
    }
  });

  it("becomes a request body whose first metric is the primary one", () => {
    const metrics = [
      { what: "signal:thumbs_up", direction: "increase" },
      { what: "cost", direction: "decrease" },
    ];
    const body = toBody(named({ metrics, agentId: "" }));
    expect(body.agentId).toBeNull();
    expect(body.metrics).toEqual([
      {
        key: null,
        source: "signal",
        signalName: "thumbs_up",
        direction: "increase",
        primary: true,
      },
      { key: null, source: "trace", metric: "cost", direction: "decrease", primary: false },
    ]);
  });
});

function metricOf(lift: number | null, significant: boolean, direction = "increase") {
  const variant = {
    variant: "b",
    units: 100,
    mean: 1,
    stddev: 1,
    ci: null,
    lift,
    liftCi: lift === null ? null : { lower: lift - 0.1, upper: lift + 0.1 },
    pValue: 0.01,
    adjustedPValue: 0.01,
    chanceToWin: 0.99,
    significant,
    reason: lift === null ? "no unit of this variant has an outcome yet" : null,
  };
  const control = { ...variant, variant: "a", lift: null, liftCi: null };
  return {
    key: "cost",
    direction,
    primary: true,
    variants: [control, variant],
    cuped: null,
    trend: [],
  } as MetricResult;
}

describe("a lift", () => {
  it("is written with its sign", () => {
    expect(formatLift(0.123)).toBe("+12%");
    expect(formatLift(-0.0456)).toBe("−4.6%");
    expect(formatLift(0.0001)).toBe("±0%");
    expect(formatLift(null)).toBe("–");
  });

  it("of a rate has points beside it", () => {
    const metric = metricOf(0.1, true);
    const [control, variant] = metric.variants.map((one, at) => ({ ...one, mean: 0.5 + at / 20 }));
    const variants = [control, variant] as MetricResult["variants"];
    const of = (name: "successRate" | "cost") =>
      pointsOf({ metric: name }, { ...metric, variants }, variants[1] as never);
    expect(of("successRate")).toBe("+5.0 pts");
    expect(of("cost")).toBeNull();
  });

  it("is good or bad by its direction, and only when it is significant", () => {
    const tone = (lift: number, sure: boolean, direction: string) => {
      const metric = metricOf(lift, sure, direction);
      return liftTone(metric, metric.variants[1] as MetricResult["variants"][number]);
    };
    expect(tone(0.2, true, "increase")).toBe("good");
    expect(tone(0.2, true, "decrease")).toBe("bad");
    expect(tone(-0.2, true, "decrease")).toBe("good");
    expect(tone(-0.2, false, "decrease")).toBe("neutral");
  });
});

describe("the interval plot", () => {
  const experiment = {
    metrics: [{ key: "cost", source: "trace", metric: "cost", signalName: null }],
  } as Experiment;
  const plot = (metric: MetricResult) =>
    render(
      <IntervalPlot
        experiment={experiment}
        results={{ metrics: [metric] } as Results}
        chosen={undefined}
        onChoose={vi.fn()}
      />,
    );

  it("shows the lift with its bounds", () => {
    plot(metricOf(-0.3, true, "decrease"));
    expect(screen.getByRole("button").textContent).toContain("−30%−40% … −20%");
  });

  it("says why there is none", () => {
    plot(metricOf(null, false));
    expect(screen.getByText("No unit of this variant has an outcome yet")).toBeTruthy();
  });
});
