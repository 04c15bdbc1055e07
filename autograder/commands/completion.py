"""Shell completion for names of lessons and exercises; imported at every start of the command."""

from __future__ import annotations

import typer

from autograder.commands.courses import UNTRUSTED


def lessons_and_exercises(context: typer.Context, incomplete: str) -> list[str]:
    """Complete `ch06/re` to `ch06/relu_vjp`, keeping the lesson as typed; without a slash, complete lessons."""
    from course.syllabus import syllabus

    if context.meta.get(UNTRUSTED):
        return []
    begun, slash, _ = incomplete.partition("/")
    if not slash:
        return lessons(context, incomplete)
    meant = [lesson for slug, lesson in syllabus().items() if begun in (slug, slug.partition("_")[0])]
    names = [f"{begun}/{exercise.name}" for lesson in meant for exercise in lesson.exercises]
    return [name for name in names if name.startswith(incomplete)]


def lessons(context: typer.Context, incomplete: str) -> list[str]:
    """Lessons by number, or by full name once one is begun; none of an untrusted course."""
    from course.syllabus import syllabus

    if context.meta.get(UNTRUSTED):
        return []
    names = syllabus() if "_" in incomplete else [slug.partition("_")[0] for slug in syllabus()]
    return [name for name in names if name.startswith(incomplete)]
