"""Django: an order and the message about it commit together, in Django's own transaction.

In a project the settings stand in settings.py, and `outbox` in a module of the application. The
migration that creates the queue runs what `tableq ddl` prints, or a Database opens the queue once.
"""

import sys

import django
from django.conf import settings
from django.db import connection, models, transaction

import tableq

path = sys.argv[1]
# On SQLite a plain BEGIN makes an atomic() that reads before it writes fail at once with "database is
# locked" beside a worker. Django before 5.1 has no such option: there write first, as place_order.
options = {"transaction_mode": "IMMEDIATE"} if django.VERSION >= (5, 1) else {}
settings.configure(
    DATABASES={
        "default": {"ENGINE": "django.db.backends.sqlite3", "NAME": path, "OPTIONS": options}
    },
    DEFAULT_AUTO_FIELD="django.db.models.AutoField",
)
django.setup()


class Order(models.Model):
    what = models.TextField()

    class Meta:
        app_label = "shop"


outbox = tableq.Outbox("orders")


def place_order(what: str) -> None:
    with transaction.atomic():
        order = Order.objects.create(what=what)
        # Django's wrapper holds the connection of sqlite3, psycopg2 or psycopg.
        outbox.put(str(order.pk), using=connection.connection)
        if what == "nothing":
            raise ValueError("an order of nothing")


with tableq.open(f"sqlite://{path}") as db:
    orders = db.claim("orders")
    with connection.schema_editor() as editor:
        editor.create_model(Order)

    place_order("a book")
    try:
        place_order("nothing")
    except ValueError:
        pass

    for job in orders.take(10):
        with job:
            print("order", job.text, "is", Order.objects.get(pk=int(job.text)).what)
    connection.close()
