/** Whether the packages are on npm, as the workspace's package.json says. */
export function isPublished(root?: string): Promise<boolean>;
/** Sets the flag permanently. */
export function markPublished(root?: string): Promise<void>;
