import axe from 'axe-core'
import type { Page } from 'playwright-core'

/**
 * Serious and critical findings of axe-core on the current page: rule and first element.
 * Runs through the debugging protocol, so the page's content security policy stays strict.
 */
export async function seriousFindings(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  const { violations } = await page.evaluate(() =>
    (globalThis as unknown as { axe: { run(): Promise<Results> } }).axe.run(),
  )
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes[0]?.html ?? ''}`)
}

interface Results {
  readonly violations: readonly {
    readonly id: string
    readonly impact: string
    readonly nodes: readonly { readonly html: string }[]
  }[]
}
