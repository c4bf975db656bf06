/** Texts of the cost of a job. */

import { dollars, number } from "./format";

export const costText = {
  cost: {
    notEstimated: "Cost not estimated: the number of items is not known yet",
    estimated: (amount: number) => `Estimated cost ${dollars(amount)}`,
    soFar: (amount: number) => `Cost so far ${dollars(amount)}`,
    total: (amount: number) => `Cost ${dollars(amount)}`,
    ofEstimate: (amount: number) => `estimated ${dollars(amount)}`,
    max: (amount: number) => `stops before ${dollars(amount)}`,
    caption: "Cost by what is billed",
    part: "Part",
    estimate: "Estimate",
    cost: "Cost",
    sum: "Total",
    parts: {
      compute: "Computing time",
      requests: "Function calls",
      database: "Database",
      storage: "Storage requests",
      queue: "Queues",
    },
    about: "In US dollars at list prices, with all attempts. Storage, traffic and uploads are not included.",
    assumed: (items: number, bytes: number) =>
      `The estimate assumes ${number(items)} rows of ${number(bytes)} bytes, and that none fails.`,
  },
};
