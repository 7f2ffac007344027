// The order of search results: pages that teach, other pages, those for contributors, then names.
var Scorer = {
  objNameMatch: 0,
  objPartialMatch: 0,
  objPrio: {},
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
  score: ([page, , , , score, , kind]) =>
    kind === "object"
      ? score
      : score + (/guide\/(tutorial|howto|example)|GLOSSARY/.test(page) ? 20
          : /^(CHANGELOG|CONTRIBUTING|tests)|SOURCE$/.test(page) ? 5
          : 10),
};
