/** Lets pieces of work that bear the same name run one after another, in the order they came. */
export function oneByOne() {
  const tails = new Map<string, Promise<unknown>>()

  return <Result>(name: string, work: () => Promise<Result>): Promise<Result> => {
    const before = tails.get(name)
    const mine = before ? before.then(work, work) : work()
    tails.set(name, mine)
    const leave = () => {
      if (tails.get(name) === mine) tails.delete(name)
    }
    mine.then(leave, leave)
    return mine
  }
}
