import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'

/** Half as long as what the package exports, which every page reads anew. */
const SOURCE = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')

/**
 * Serious and critical findings of axe-core on the current page: rule and first element.
 * Runs through the debugging protocol, so the page's content security policy stays strict.
 * Waits for what fades in or out, whose contrast is low on the way; endless movement stays.
 */
export async function seriousFindings(page: Page): Promise<string[]> {
  if (await page.evaluate(() => !('axe' in globalThis))) await page.evaluate(SOURCE)
  await settled(page)
  // What passed is neither described nor sent: on a long page that is most of the work.
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: Axe }
    // A finding has the impact of its rule, so that the others have nothing to tell here.
    const rules = axe._audit.rules
      .filter(({ impact }) => impact === 'minor' || impact === 'moderate')
      .map(({ id }) => [id, { enabled: false }] as const)
    const options = { resultTypes: ['violations'], rules: Object.fromEntries(rules) } as const
    const { violations } = await axe.run(options)
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => `${id}: ${nodes[0]?.html ?? ''}`)
  })
}

const settled = (page: Page) =>
  page.evaluate(async () => {
    const moving = document
      .getAnimations()
      .filter((one) => Number.isFinite(Number(one.effect?.getComputedTiming().endTime)))
    await Promise.allSettled(moving.map((one) => one.finished))
  })

interface Axe {
  run(options: Options): Promise<Results>
  readonly _audit: { readonly rules: readonly { readonly id: string; readonly impact: string }[] }
}

interface Options {
  readonly resultTypes: readonly ['violations']
  readonly rules: Readonly<Record<string, { readonly enabled: boolean }>>
}

interface Results {
  readonly violations: readonly {
    readonly id: string
    readonly impact: string
    readonly nodes: readonly { readonly html: string }[]
  }[]
}
