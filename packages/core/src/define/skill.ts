/** The Agent Skills of a package (agentskills.io, "Specification"): folders with a SKILL.md each. */
export interface Skill {
  /** The folder's name, which is also the `name` of its frontmatter. */
  readonly name: string;
  /** The files of the folder, SKILL.md among them; `path` is below the folder, with `/`. */
  readonly files: readonly { readonly path: string; readonly text: string }[];
}
