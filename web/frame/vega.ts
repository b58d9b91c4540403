import embed from 'vega-embed'
import { expressionInterpreter } from 'vega-interpreter'

const refuse = async (): Promise<never> => {
  throw new Error('only data inside the block is drawn: it names an address')
}

/** Lines of the console's dark theme: those of the other one outshine what is drawn. */
const LINE = '#3c4654'
const DARK = {
  axis: { gridColor: '#272e38', domainColor: LINE, tickColor: LINE, labelColor: '#b7bac0' },
  view: { stroke: '#272e38' },
}

/** Whether a part of the drawing wants its data from an address. */
function namesAddress(part: unknown): boolean {
  if (typeof part !== 'object' || part === null) return false
  const { data } = part as { data?: unknown }
  const sources = Array.isArray(data) ? data : [data]
  const isFar = sources.some((one) => typeof one === 'object' && one !== null && 'url' in one)
  return isFar || Object.values(part).some(namesAddress)
}

globalThis.moonbaseDraw = async (place, text, dark) => {
  const { usermeta: _, ...spec } = JSON.parse(text) as Record<string, unknown>
  if (namesAddress(spec)) return refuse()
  const { view } = await embed(place, spec as never, {
    mode: 'vega-lite',
    // Expressions are interpreted: the frame has no eval.
    ast: true,
    expr: expressionInterpreter,
    renderer: 'svg',
    actions: false,
    loader: { load: refuse, sanitize: refuse, http: refuse, file: refuse },
    ...(dark ? { theme: 'dark' } : {}),
    config: { background: 'transparent', ...(dark ? DARK : {}) },
  })
  return view.toSVG()
}
