"""SQLAlchemy: an order and the message about it commit together, in the session's transaction."""

import sys

from sqlalchemy import Column, Integer, Text, create_engine
from sqlalchemy.orm import Session, declarative_base

import tableq

Base = declarative_base()


class Order(Base):
    __tablename__ = "shop_orders"
    id = Column(Integer, primary_key=True)
    what = Column(Text, nullable=False)


outbox = tableq.Outbox("orders")


def place_order(session: Session, what: str) -> None:
    order = Order(what=what)
    session.add(order)
    session.flush()
    # The connection of psycopg2, psycopg or sqlite3 that the session's transaction is on.
    outbox.put(str(order.id), using=session.connection().connection.dbapi_connection)
    if what == "nothing":
        raise ValueError("an order of nothing")


url = sys.argv[1]  # postgresql://user:password@host/database
engine = create_engine(url)
with tableq.open(url) as db:
    orders = db.claim("orders")
    Base.metadata.create_all(engine)

    with Session(engine) as session, session.begin():
        place_order(session, "a book")
    try:
        with Session(engine) as session, session.begin():
            place_order(session, "nothing")
    except ValueError:
        pass

    for job in orders.take(10):
        with job, Session(engine) as session:
            print("order", job.text, "is", session.get(Order, int(job.text)).what)
engine.dispose()
