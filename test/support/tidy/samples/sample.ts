/** Sources that break one rule each, with where it must say so, and sources that keep to it. */
export interface Sample {
  readonly rule: string
  readonly bad: Readonly<Record<string, string>>
  /** `path:line` of every finding in `bad`. */
  readonly expect: readonly string[]
  readonly good: Readonly<Record<string, string>>
}
