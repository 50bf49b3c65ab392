import { describe, test } from 'vitest';

/** One statement of a document, tried on a target. */
export interface Check<Setting> {
  /** The section of the document with the statement. */
  readonly section: string;
  /** A sentence. */
  readonly name: string;
  /** What the target must support for it; otherwise the check is skipped, by name. */
  readonly needs: readonly string[];
  readonly run: (setting: Setting) => Promise<void>;
}

/** Something to try checks on. */
export interface Target<Setting> {
  readonly name: string;
  /** What it supports: see the documentation of the setting. */
  readonly can: readonly string[];
  /** Opens a setting for one check: a fresh one if the target can give fresh ones. */
  readonly open: () => Promise<Setting & { close(): Promise<void> }>;
}

/** Makes each check a test; those that the target does not support are skipped by name. */
export function registerChecks<Setting>(target: Target<Setting>, checks: readonly Check<Setting>[]): void {
  describe(target.name, () => {
    for (const check of checks) {
      test(`${check.section}: ${check.name}`, async (context) => {
        const missing = missingNeeds(target, check);
        if (missing.length > 0) context.skip(`${target.name} cannot: ${missing.join(', ')}`);
        await runCheck(target, check);
      });
    }
  });
}

/** Makes the checks tests if there is a target; otherwise one test that is skipped and says which variable names a target. */
export function registerNamedTarget<Setting>(
  target: Target<Setting> | undefined,
  variable: string,
  checks: readonly Check<Setting>[],
): void {
  if (target !== undefined) registerChecks(target, checks);
  else test(`${checks.length} checks against ${variable}`, (context) => context.skip(`${variable} is not set`));
}

export async function runCheck<Setting>(target: Target<Setting>, check: Check<Setting>): Promise<void> {
  const setting = await target.open();
  try {
    await check.run(setting);
  } finally {
    await setting.close();
  }
}

export function missingNeeds<Setting>(target: Target<Setting>, check: Check<Setting>): readonly string[] {
  return check.needs.filter((need) => !target.can.includes(need));
}

/** Checks of one section: a table of sentences. */
export function section<Setting>(
  name: string,
  needs: readonly string[],
  sentences: Readonly<Record<string, (setting: Setting) => Promise<void>>>,
): readonly Check<Setting>[] {
  return Object.entries(sentences).map(([sentence, run]) => ({ section: name, name: sentence, needs, run }));
}
