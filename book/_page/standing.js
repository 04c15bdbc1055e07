// The reader's progress in a lesson's exercises, as numbers and in words.
import { result } from "./store.js";

export function standing(lesson, exercises) {
  const found = exercises.map(([name, points]) => ({ ...result(lesson, name), points }));
  const solved = found.filter((one) => (one.best ?? 0) >= one.points).length;
  return {
    solved,
    tried: found.filter((one) => one.status && one.status !== "missing").length,
    earned: found.reduce((sum, one) => sum + Math.min(one.best ?? 0, one.points), 0),
    points: found.reduce((sum, one) => sum + one.points, 0),
    all: found.length,
  };
}

export const inWords = ({ solved, all, earned, points }) => `${solved} of ${all} solved, ${Math.round(earned * 100) / 100} of ${points} points`;
