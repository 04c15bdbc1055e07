"""What a shell offers where a lesson or an exercise is to be named; this is imported at every start of a command."""

from __future__ import annotations


def lessons_and_exercises(incomplete: str) -> list[str]:
    """`ch06/relu_vjp` for `ch06/re`, the lesson as it was typed; lessons as long as there is no slash."""
    from course.syllabus import syllabus

    begun, slash, _ = incomplete.partition("/")
    if not slash:
        return lessons(incomplete)
    meant = [lesson for slug, lesson in syllabus().items() if begun in (slug, slug.partition("_")[0])]
    names = [f"{begun}/{exercise.name}" for lesson in meant for exercise in lesson.exercises]
    return [name for name in names if name.startswith(incomplete)]


def lessons(incomplete: str) -> list[str]:
    """Lessons by number, and by their whole names once one of those is begun."""
    from course.syllabus import syllabus

    names = syllabus() if "_" in incomplete else [slug.partition("_")[0] for slug in syllabus()]
    return [name for name in names if name.startswith(incomplete)]
