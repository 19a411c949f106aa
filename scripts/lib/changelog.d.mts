export function pendingChanges(root: string): Promise<string>;
export function addToChangelog(
  root: string,
  entry: { version: string; date: string; changes: string },
): Promise<void>;
