/** What the price form starts with. */
import type { Schemas } from "@/lib/api";
import type { Model } from "./columns";

export type OwnPrice = Schemas["OwnPrice"];
export type Kind = OwnPrice["kind"];

const RATES = [
  "inputPerMillion",
  "outputPerMillion",
  "cachedInputPerMillion",
  "cacheWritePerMillion",
  "reasoningPerMillion",
  "audioInputPerMillion",
  "audioOutputPerMillion",
  "perCall",
  "perImage",
] as const;
export type Rate = (typeof RATES)[number];

export interface PriceDraft {
  kind: Kind;
  /** Empty while a new price is added. */
  name: string;
  provider: string | null;
  effectiveFrom: string | null;
  /** Whether this price exists: its date cannot change. */
  isStored: boolean;
  rates: Partial<Record<Rate, string>>;
}

export const NEW_PRICE: PriceDraft = {
  kind: "model",
  name: "",
  provider: null,
  effectiveFrom: null,
  isStored: false,
  rates: {},
};

function readRates(source: Partial<Record<Rate, number | null>>): PriceDraft["rates"] {
  const given = RATES.flatMap((rate) => {
    const value = source[rate];
    return value === null || value === undefined ? [] : [[rate, String(value)] as const];
  });
  return Object.fromEntries(given);
}

/** A new price of a model, with the current rates to start from. */
export function draftOf(name: string, model: Model | undefined): PriceDraft {
  return {
    ...NEW_PRICE,
    name,
    provider: model?.provider ?? null,
    rates: model ? readRates(model) : {},
  };
}

export function draftOfPrice(price: OwnPrice): PriceDraft {
  return {
    kind: price.kind,
    name: price.model,
    provider: null,
    effectiveFrom: price.effectiveFrom ?? null,
    isStored: true,
    rates: readRates(price),
  };
}
