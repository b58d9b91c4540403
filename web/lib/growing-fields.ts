/**
 * Lets the field of a question grow with its text where the style sheet cannot: `field-sizing` came
 * to Safari and Firefox years after all else that the pages need. Loaded there alone.
 */

const FIELDS = '.composer textarea, #ask textarea'

function fit(field: HTMLTextAreaElement): void {
  field.style.height = 'auto'
  // Its border is no part of what it holds.
  field.style.height = `${field.scrollHeight + field.offsetHeight - field.clientHeight}px`
}

const fitAll = () => document.querySelectorAll<HTMLTextAreaElement>(FIELDS).forEach(fit)

const hasField = (node: Node): boolean =>
  node instanceof Element && (node.matches(FIELDS) || node.querySelector(FIELDS) !== null)

// A text that the console puts into a field becomes its content, too, which is a change to see.
new MutationObserver((changes) => {
  const isOurs = ({ target, addedNodes }: MutationRecord) =>
    target instanceof HTMLTextAreaElement || [...addedNodes].some(hasField)
  if (changes.some(isOurs)) fitAll()
}).observe(document.body, { childList: true, subtree: true })
addEventListener('input', fitAll)
addEventListener('resize', fitAll)
addEventListener('submit', () => requestAnimationFrame(fitAll))
fitAll()

export {}
