"""The paper's tables and figures: experiments as data, and what measures them."""
