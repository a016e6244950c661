/**
 * The table of the windows in which requests are counted. Counters, settings, stored keys, headers and texts come from it. CONTRIBUTING.md
 * lists the files that a new window touches.
 */

interface WindowRow {
  name: Lowercase<string>;
  /** The name with its article. */
  text: string;
  lengthMs: number;
  /**
   * When windows begin. `AtPhase`: each pool has a phase of its own, so that the windows of many pools do not end together. `AtUtc`: the
   * windows of all pools end together, and clients retry at different seconds.
   */
  begins: 'AtPhase' | 'AtUtc';
  /** Whether each Plan has a limit for the window. A later row is `Optional`, because existing Plans have no limit for it. */
  inPlans: 'Required' | 'Optional';
}

/** Shorter windows come first. The first window counts in every pool. */
export const windows = [
  {name: 'minute', text: 'a minute', lengthMs: 60_000, begins: 'AtPhase', inPlans: 'Required'},
  {name: 'day', text: 'a day', lengthMs: 86_400_000, begins: 'AtUtc', inPlans: 'Required'},
] as const satisfies readonly WindowRow[];

type Row = (typeof windows)[number];
export type WindowName = Row['name'];
export type CountedWindow = WindowRow & {name: WindowName};
export type ShortestWindow = (typeof windows)[0]['name'];
type LongerWindow = Exclude<WindowName, ShortestWindow>;

export const shortestWindow: ShortestWindow = windows[0].name;

/** Makes a value for each window. */
export const perWindow = <T>(make: (window: CountedWindow) => T): Record<WindowName, T> =>
  Object.fromEntries(windows.map((window) => [window.name, make(window)])) as Record<WindowName, T>;

/** The name of a window's limit in quotas, Plans and settings. */
export type LimitSetting<N extends WindowName = WindowName> = `requestsPer${Capitalize<N>}`;

export const settingOf = <N extends WindowName>(name: N): LimitSetting<N> =>
  `requestsPer${name[0]!.toUpperCase()}${name.slice(1)}` as LimitSetting<N>;

/** A value for each setting. */
export const perSetting = <T>(make: (window: CountedWindow) => T): Record<LimitSetting, T> =>
  Object.fromEntries(windows.map((window) => [settingOf(window.name), make(window)])) as Record<LimitSetting, T>;

/** In the order of {@link windows}. */
export const settings = windows.map(({name}) => settingOf(name));

type RequiredWindow = Extract<Row, {inPlans: 'Required'}>['name'];
type OptionalWindow = Exclude<WindowName, RequiredWindow>;

/** A value for each window, or another value if Plans may have no limit for the window. */
export type PlanWindows<T, Optional> = Record<RequiredWindow, T> & Record<OptionalWindow, Optional>;
/** The same for each setting. */
export type PlanSettings<T, Optional> = Record<LimitSetting<RequiredWindow>, T> &
  Record<LimitSetting<OptionalWindow>, Optional>;

/** Limits by their settings. An absent limit: the window does not count. */
export type WindowLimits = Readonly<
  Record<LimitSetting<ShortestWindow>, number> & Partial<Record<LimitSetting<LongerWindow>, number>>
>;

type StandingField<N extends WindowName> = `${N}Limit` | `${N}Remaining` | `${N}End`;

/**
 * A pool's limit for each window, the remaining requests (admitted if no other request came), and the window's end (Unix seconds by the
 * trusted clock). Undefined for a window that does not count. The object is flat, because every request creates one.
 */
export type WindowStandings = Record<StandingField<ShortestWindow>, number> &
  Record<StandingField<LongerWindow>, number | undefined>;

// Every request calls the functions below. They spell out the names of fields, because access by a computed name takes 10 ns a field. None
// of them compiles without each window.

export function limitIn(standings: WindowStandings, name: WindowName): number | undefined {
  switch (name) {
    case 'minute':
      return standings.minuteLimit;
    case 'day':
      return standings.dayLimit;
    default:
      return name satisfies never;
  }
}

export function remainingIn(standings: WindowStandings, name: WindowName): number | undefined {
  switch (name) {
    case 'minute':
      return standings.minuteRemaining;
    case 'day':
      return standings.dayRemaining;
    default:
      return name satisfies never;
  }
}

export function endIn(standings: WindowStandings, name: WindowName): number | undefined {
  switch (name) {
    case 'minute':
      return standings.minuteEnd;
    case 'day':
      return standings.dayEnd;
    default:
      return name satisfies never;
  }
}

/** Sets what a pool has of a window. `end`: Unix seconds. */
export function setStanding(
  standings: WindowStandings,
  name: WindowName,
  limit: number,
  remaining: number,
  end: number,
): void {
  switch (name) {
    case 'minute':
      standings.minuteLimit = limit;
      standings.minuteRemaining = remaining;
      standings.minuteEnd = end;
      return;
    case 'day':
      standings.dayLimit = limit;
      standings.dayRemaining = remaining;
      standings.dayEnd = end;
      return;
    default:
      name satisfies never;
  }
}
