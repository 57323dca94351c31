"""What can go wrong, with the code that the shop shows."""


class StockroomError(Exception):
    code = "E_STOCKROOM_500"
    status = 500


class NotEnoughStock(StockroomError):
    code = "E_STOCK_412"
    status = 412

    def __init__(self, sku, wanted, free):
        super().__init__(f"{sku}: {wanted} wanted, {free} free")
        self.sku, self.wanted, self.free = sku, wanted, free


class HoldEnded(StockroomError):
    code = "E_HOLD_409"
    status = 409


class NoSuchOrder(StockroomError):
    code = "E_ORDER_404"
    status = 404


class BadQuantity(StockroomError):
    code = "E_QUANTITY_422"
    status = 422
