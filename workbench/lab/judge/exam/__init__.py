"""Models as readers of the exam: admitted by test, then asked what each strategy's context still
tells.
"""
