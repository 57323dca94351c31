"""What the web shop calls: plain dicts in, (status, dict) out."""

from stockroom import orders, picking, pricing
from stockroom.errors import StockroomError


def handle(db, config, request):
    try:
        return 200, ROUTES[request["action"]](db, config, request)
    except StockroomError as error:
        return error.status, {"code": error.code, "message": str(error)}
    except KeyError as error:
        return 400, {"code": "E_REQUEST_400", "message": f"missing field {error}"}


def _place(db, config, request):
    order_id = orders.place(db, config, request["customer"], [(l["sku"], l["packs"]) for l in request["lines"]])
    return {"order": order_id, "total": pricing.total(db, config, orders.lines(db, order_id))}


def _pay(db, config, request):
    orders.pay(db, config, request["order"])
    return {"order": request["order"], "slip": picking.slip(db, request["order"])}


def _cancel(db, config, request):
    pieces = orders.cancel_line(db, config, request["order"], request["position"], request.get("packs"))
    return {"order": request["order"], "given_back": pieces}


ROUTES = {"place": _place, "pay": _pay, "cancel": _cancel}
