/** Marks every form in which something is typed, wherever it stands. */
export function markDirtyForms(): void {
  addEventListener('input', ({ target }) => {
    if (target instanceof Element) target.closest('form')?.setAttribute('data-typed', '')
  })
}

/** Whether leaving now would lose what was typed. */
export const isDirty = (within = ''): boolean =>
  document.querySelector(`${within} form[data-typed]`) !== null
