// The script of every page, without Python: quizzes, predictions, progress, previews of links, print.
import { cards } from "./cards.js";
import { followContents } from "./contents.js";
import { derivations } from "./derive.js";
import { predictions } from "./predict.js";
import { previews } from "./previews.js";
import { openInPrint } from "./print.js";
import { quizzes } from "./quiz.js";
import { keepPlace } from "./place.js";
import { reports } from "./reports.js";

quizzes();
predictions();
derivations();
keepPlace();
followContents();
cards();
previews();
openInPrint();
reports();
