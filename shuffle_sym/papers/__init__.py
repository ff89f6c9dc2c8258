r"""What the papers say: their closed forms, their derivations, and the audit of their claims."""
