/** The theme: light, dark, or the system setting. */
import { useSyncExternalStore } from "react";

export type Theme = "system" | "light" | "dark";
const KEY = "spanwise.theme";
const listeners = new Set<() => void>();
const systemIsDark = () => matchMedia("(prefers-color-scheme: dark)");

export function getTheme(): Theme {
  const chosen = localStorage.getItem(KEY);
  return chosen === "light" || chosen === "dark" ? chosen : "system";
}

export function setTheme(theme: Theme) {
  if (theme === "system") {
    localStorage.removeItem(KEY);
    delete document.documentElement.dataset.theme;
  } else {
    localStorage.setItem(KEY, theme);
    document.documentElement.dataset.theme = theme;
  }
  for (const listener of listeners) listener();
}

/** The theme of this tab; another tab may use a different one. */
export function isDark(): boolean {
  const { theme } = document.documentElement.dataset;
  return theme ? theme === "dark" : systemIsDark().matches;
}

function subscribe(listener: () => void) {
  listeners.add(listener);
  const system = systemIsDark();
  system.addEventListener("change", listener);
  return () => {
    listeners.delete(listener);
    system.removeEventListener("change", listener);
  };
}

export function useIsDark(): boolean {
  return useSyncExternalStore(subscribe, isDark);
}

export function useTheme(): Theme {
  return useSyncExternalStore(subscribe, getTheme);
}
