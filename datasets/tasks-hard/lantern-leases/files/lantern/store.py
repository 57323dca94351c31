"""The file of jobs: a line a job, fields between tabs."""


class Store:
    """Jobs by number, in memory; `save` and `load` bring them to the file and back."""

    def __init__(self):
        self.jobs, self.next = {}, 1

    def add(self, body):
        """A new job's number."""
        number, self.next = self.next, self.next + 1
        self.jobs[number] = {"body": body, "tries": 0, "holder": "", "until": 0.0}
        return number

    def free(self, now):
        """Numbers of jobs that nobody holds at this time, oldest first."""
        return [number for number, job in sorted(self.jobs.items()) if not job["holder"] or job["until"] <= now]

    def remove(self, number):
        """Forget a job."""
        del self.jobs[number]
