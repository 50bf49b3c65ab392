/** One thing that was measured. */
export interface Figure {
  readonly scenario: string;
  readonly figure: string;
  readonly unit: Unit;
  readonly value: number;
  /** The most that is allowed, or the least if `atLeast` is true; undefined: for information. */
  readonly target?: number;
  readonly atLeast?: boolean;
}

export type Unit =
  | 'ms'
  | 's'
  | 'bytes'
  | 'KB'
  | 'MB'
  | 'count'
  | 'per cluster'
  | 'KB per cluster'
  | 'per user'
  | 'per edit'
  | 'share';

/** Undefined without a target. */
export function isMet({ value, target, atLeast = false }: Figure): boolean | undefined {
  if (target === undefined) return undefined;
  return atLeast ? value >= target : value <= target;
}

/** The figures of one scenario, in the order in which they are shown. */
export class Sheet {
  readonly #scenario: string;
  readonly figures: Figure[] = [];

  /** `scenario`: the name, with the size if it has one, such as "S3 N=100". */
  constructor(scenario: string) {
    this.#scenario = scenario;
  }

  add(figure: string, value: number, unit: Unit, target?: number): void {
    this.figures.push({ scenario: this.#scenario, figure, unit, value, ...(target === undefined ? {} : { target }) });
  }

  /** Adds a figure that must not be less than its target. */
  addAtLeast(figure: string, value: number, unit: Unit, target: number): void {
    this.figures.push({ scenario: this.#scenario, figure, unit, value, target, atLeast: true });
  }
}
